/* cmark as one static program: nothing is exported */
#define CMARK_EXPORT
#define CMARK_NO_EXPORT
