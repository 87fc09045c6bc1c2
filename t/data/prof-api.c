/* prof-api.c - a C program that names its operations and records events of its own; see t/prof-record.t */
#include <millrace_prof.h>
#include <pthread.h>
#include <stdio.h>
static uint32_t work;
static void *thread(void *arg)
{
    millrace_prof_push_operation("thread");
    for (int i = 0; i < 1000; i++) {
        millrace_prof_begin(work);
        millrace_prof_end(work);
    }
    millrace_prof_pop_operation();
    return arg;
}
int main(int argc, char **argv)
{
    pthread_t t;
    if (argc > 1 && millrace_prof_start(argv[1]) != 0) return 3;
    work = millrace_prof_id("Simulator", "work");
    millrace_prof_push_operation("outer");
    millrace_prof_push_operation("inner");
    millrace_prof_begin(work);
    millrace_prof_end(work);
    millrace_prof_pop_operation();
    uint64_t start = millrace_prof_now();
    millrace_prof_record_event(millrace_prof_id("Backend", "event, \"quoted\""), start);
    millrace_prof_disable();
    millrace_prof_begin(work);
    millrace_prof_end(work);
    millrace_prof_enable();
    pthread_create(&t, NULL, thread, NULL);
    pthread_join(t, NULL);
    millrace_prof_pop_operation();
    millrace_prof_pop_operation();
    puts("same");
    return 0;
}
