#!/bin/bash
# scripts annotated for the published profiler, under its later name and the earlier one, run unchanged: their operations,
# phases and passes are recorded, and only what they profile; without the recorder they run as well
. "${0%/*}/tap.sh"
need_python json
annotated() { cat > "$1.py" <<EOF
import argparse, sys
import $2.api as tool
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=4)
tool.add_$3_arguments(parser)
args = parser.parse_args(["--$3-directory=x"] + sys.argv[1:])
tool.handle_$3_args(parser=parser, args=args, reports_progress=True)
tool.prof.set_metadata({"algo": "none", "env": "none"})
def work():
    sorted(range(20000), key=lambda x: -x)
with tool.prof.operation("before"):
    work()
with tool.prof.profile(process_name="p", phase_name="learn"):
    with tool.prof.operation("training_loop"):
        for i in range(args.steps):
            with tool.prof.operation("simulation"):
                work()
            tool.prof.set_operation("inference")
            work()
            tool.prof.end_operation("inference")
            tool.prof.report_progress(percent_complete=(i + 1) / args.steps, num_timesteps=i, total_timesteps=args.steps)
with tool.prof.operation("after"):
    work()
print("ran", args.steps)
EOF
}
annotated later rlscope rlscope
annotated earlier iml_profiler iml
for s in later earlier; do
    is "$s: it runs" 'ran 4' prof-record --quiet -o "$s" "$s.py"
    is "$s: operations of what it profiles, and no others" $'op\ninference\nsimulation\ntraining_loop' \
        eval "prof-log $s | csv-calc --where=\"kind == 'op'\" | csv-cut -c name | sed 1d | sort -u | sed 1iop"
    is "$s: so often" 4 eval "prof-log $s | csv-calc --where=\"kind == 'op' && name == 'simulation'\" | sed 1d | wc -l"
    is "$s: its phase" 1 eval "prof-log $s | csv-calc --where=\"kind == 'phase' && name == 'learn'\" | sed 1d | wc -l"
done
is 'passes end' 2 eval "prof-record --quiet -o two later.py --rlscope-max-passes=2 > /dev/null; prof-log --quiet two |
    csv-calc --where=\"kind == 'op' && name == 'simulation'\" | sed 1d | wc -l"
is 'disabled: nothing of it' 0 eval "prof-record --quiet -o off later.py --rlscope-disable > /dev/null; prof-log --quiet off |
    csv-calc --where=\"kind == 'op'\" | sed 1d | wc -l"
export PYTHONPATH=$B/prof
is 'without the recorder' 'ran 2' eval "$python later.py --steps=2 2> said"
ok 'which is said' grep -q 'nothing is recorded: begin the script by' said
is 'click: values by name' 'True learn' "$python" -c 'import iml_profiler.api as iml
iml.handle_click_iml_args({"iml_directory": "x", "iml_disable": True}, directory="x", reports_progress=True)
with iml.prof.profile(process_name="p", phase_name="learn"): print(iml.prof.disabled, "learn")'
fails 'what is not known is said' 1 "does not know 'unheard_of'" "$python" -c 'import rlscope.api as r
r.handle_rlscope_args(args={"rlscope_disable": True}); r.prof.unheard_of()'
if "$python" -c 'import numpy, torch' 2> /dev/null; then
    cc -O2 -shared -fPIC -o planar.so "$root/data/survey/planar.c" -lm
    survey() { prof-record --quiet --force -o run "$root/data/survey/survey.py" --env="$1" --algo="$2" --steps=70 \
        --planar=./planar.so --rlscope-directory=run; prof-log --quiet run | prof-op --quiet | prof-sweep --quiet; }
    for a in dqn a2c ppo; do
        is "survey: $a has its operations, the physics is the simulator's" 'backpropagation inference simulation Simulator' \
            eval "survey planar $a > cells; csv-cut -c op cells | grep -x 'backpropagation\|inference\|simulation' | sort -u | tr '\n' ' '; grep -o Simulator cells | head -1"
    done
fi
done_testing
