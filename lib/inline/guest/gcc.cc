/* gcc.cc - a plugin for gcc: inline exactly the calls that a file names, and say what became of every call.
 *
 * C++, because gcc's plugin interface is; compiled by gcc.c when a user asks for gcc, so the rest needs no C++ compiler.
 * Arguments: decide=FILE, a line "CALLEE CHAIN" for each call to inline, every other call stays (without it gcc's own
 * heuristic decides); log=FILE gets a line for each call of a function with a body, fields separated by tabs:
 *   callee, caller, chain, file, line, column, copies inlined, copies left, growth, limit, reason, legal (0 or 1)
 * A call is decided once, wherever its caller is copied to: gcc decides on the call graph before it copies bodies.
 * Built and tried with gcc 12; early inlining has to be off, or calls are gone before they are asked about. */
#define INCLUDE_STRING
#define INCLUDE_MAP
#define INCLUDE_VECTOR
#include "gcc-plugin.h"
#include "plugin-version.h"
#include "tree.h"
#include "stringpool.h"
#include "attribs.h"
#include "gimple.h"
#include "value-range.h"
#include "tree-pass.h"
#include "context.h"
#include "cgraph.h"
#include "alloc-pool.h"
#include "symbol-summary.h"
#if GCCPLUGIN_VERSION_MAJOR >= 14
#include "sreal.h"
#include "ipa-cp.h"
#endif
#include "ipa-prop.h"
#include "ipa-fnsummary.h"
#include "ipa-inline.h"

int plugin_is_GPL_compatible;

namespace {

struct site {
    std::string callee, caller, chain, file, reason;
    int line, column, inlined, left, growth, limit;
    bool wanted, legal;
};

std::vector<site> sites;
std::map<const gimple *, size_t> site_of;
std::map<std::string, bool> wanted;
const char *decide_path, *log_path;

/* cut what gcc appends to the names of copies */
std::string name_of(tree decl)
{
    std::string s = IDENTIFIER_POINTER(DECL_NAME(decl));
    for (const char *mark : { ".constprop", ".isra", ".lto_priv", ".localalias" }) {
        size_t at = s.find(mark);
        if (at != std::string::npos) s.resize(at);
    }
    return s;
}

void element(std::string *chain, tree function, location_t at)
{
    char b[64];
    snprintf(b, sizeof b, ":%d:%d", LOCATION_LINE(at) - LOCATION_LINE(DECL_SOURCE_LOCATION(function)),
             LOCATION_COLUMN(at));
    if (!chain->empty()) *chain += " @ ";
    *chain += name_of(function) + b;
}

/* innermost first; more than one element only where an always_inline function was inlined already */
std::string chain_of(const cgraph_edge *e)
{
    std::string chain;
    location_t at = gimple_location(e->call_stmt);
    for (tree b = gimple_block(e->call_stmt); b && TREE_CODE(b) == BLOCK; b = BLOCK_SUPERCONTEXT(b)) {
        if (!inlined_function_outer_scope_p(b)) continue;
        tree origin = block_ultimate_origin(b);
        if (!origin || TREE_CODE(origin) != FUNCTION_DECL) continue;
        element(&chain, origin, at);
        at = BLOCK_SOURCE_LOCATION(b);
    }
    element(&chain, e->caller->decl, at);
    return chain;
}

bool mandatory(const cgraph_node *f)
{
    return lookup_attribute("always_inline", DECL_ATTRIBUTES(f->decl)) != NULL;
}

void refuse(cgraph_edge *e)
{
    e->call_stmt_cannot_inline_p = true;
    e->inline_failed = CIF_UNSPECIFIED;                  /* a final code; the inliner insists on one */
}

/* before anything is cloned: find the calls, and mark them */
unsigned decide()
{
    cgraph_node *n;
    FOR_EACH_DEFINED_FUNCTION(n)                         /* under -flto statements are not in memory yet */
        if (n->has_gimple_body_p() && !n->clone_of && !n->alias && !n->thunk) n->get_untransformed_body();
    FOR_EACH_DEFINED_FUNCTION(n) {
        std::vector<cgraph_edge *> calls;
        for (cgraph_edge *e = n->callees; e; e = e->next_callee) calls.push_back(e);
        for (size_t i = calls.size(); i-- > 0;) {        /* the list is in reverse order of the source */
            cgraph_edge *e = calls[i];
            cgraph_node *f = e->callee->ultimate_alias_target();
            if (!f->definition || !e->call_stmt || !DECL_NAME(f->decl)) continue;
            expanded_location x = expand_location(gimple_location(e->call_stmt));
            site s = { name_of(f->decl), name_of(n->decl), chain_of(e), x.file ? x.file : "", "",
                       x.line, x.column, 0, 0, 0, 0, false, true };
            s.wanted = wanted.count(s.callee + " " + s.chain) > 0;
            if (decide_path && !mandatory(f)) {
                if (s.wanted) DECL_DISREGARD_INLINE_LIMITS(f->decl) = 1;
                else refuse(e);
            }
            site_of[e->call_stmt] = sites.size();
            sites.push_back(s);
        }
    }
    return 0;
}

site *find(const cgraph_edge *e)
{
    auto at = e->call_stmt ? site_of.find(e->call_stmt) : site_of.end();
    return at == site_of.end() ? NULL : &sites[at->second];
}

/* just before the inliner: its estimates; and calls that became direct since are not on any list */
unsigned estimate()
{
    cgraph_node *n;
    FOR_EACH_DEFINED_FUNCTION(n)
        for (cgraph_edge *e = n->callees; e; e = e->next_callee) {
            site *s = find(e);
            if (!s) {
                if (decide_path && e->callee->ultimate_alias_target()->definition) refuse(e);
                continue;
            }
            if (ipa_fn_summaries && ipa_fn_summaries->get(e->callee->ultimate_alias_target()))
                s->growth = estimate_edge_growth(e);
            s->limit = DECL_DECLARED_INLINE_P(e->callee->decl)
                     ? opt_for_fn(e->caller->decl, param_max_inline_insns_single)
                     : opt_for_fn(e->caller->decl, param_max_inline_insns_auto);
        }
    return 0;
}

unsigned report()
{
    cgraph_node *n;
    FOR_EACH_FUNCTION(n)
        for (cgraph_edge *e = n->callees; e; e = e->next_callee) {
            site *s = find(e);
            if (!s || e->inline_failed == CIF_UNREACHABLE) continue;     /* no code will be made for such a copy */
            if (!e->inline_failed) s->inlined++;
            else {
                s->left++;
                s->reason = cgraph_inline_failed_string(e->inline_failed);
                if (!(decide_path && !s->wanted))
                    s->legal = cgraph_inline_failed_type(e->inline_failed) != CIF_FINAL_ERROR;
            }
        }
    FILE *f = log_path ? fopen(log_path, "w") : NULL;
    if (!f) return 0;
    for (const site &s : sites)
        fprintf(f, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%d\n", s.callee.c_str(), s.caller.c_str(),
                s.chain.c_str(), s.file.c_str(), s.line, s.column, s.inlined, s.left, s.growth, s.limit,
                s.reason.c_str(), s.legal);
    fclose(f);
    return 0;
}

struct pass : ipa_opt_pass_d {
    unsigned (*work)();
    pass(const pass_data &d, unsigned (*w)()) : ipa_opt_pass_d(d, g, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL), work(w) {}
    unsigned int execute(function *) final override { return work(); }
};

const pass_data names[] = { { IPA_PASS, "millrace-decide", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0 },
                            { IPA_PASS, "millrace-estimate", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0 },
                            { IPA_PASS, "millrace-report", OPTGROUP_NONE, TV_NONE, 0, 0, 0, 0, 0 } };

void add(const char *plugin, const pass_data &d, unsigned (*work)(), const char *beside, pass_positioning_ops where)
{
    register_pass_info info = { new pass(d, work), beside, 1, where };
    register_callback(plugin, PLUGIN_PASS_MANAGER_SETUP, NULL, &info);
}

bool read_wanted(const char *path)
{
    FILE *f = fopen(path, "r");
    if (!f) return false;
    char line[1 << 16];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        wanted[line] = true;
    }
    fclose(f);
    return true;
}

} // namespace

int plugin_init(plugin_name_args *a, plugin_gcc_version *v)
{
    if (!plugin_default_version_check(v, &gcc_version)) {
        fprintf(stderr, "error: the plugin was compiled for another gcc\n");
        return 1;
    }
    for (int i = 0; i < a->argc; i++) {
        if (strcmp(a->argv[i].key, "decide") == 0) decide_path = a->argv[i].value;
        else if (strcmp(a->argv[i].key, "log") == 0) log_path = a->argv[i].value;
    }
    if (decide_path && !read_wanted(decide_path)) {
        fprintf(stderr, "error: cannot read %s\n", decide_path);
        return 1;
    }
    add(a->base_name, names[0], decide, "icf", PASS_POS_INSERT_BEFORE);
    add(a->base_name, names[1], estimate, "inline", PASS_POS_INSERT_BEFORE);
    add(a->base_name, names[2], report, "inline", PASS_POS_INSERT_AFTER);
    return 0;
}
