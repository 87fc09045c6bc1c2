#!/bin/bash
# cost of hooks from pairs of runs
. "${0%/*}/tap.sh"
body() { prof-calibrate "$@" | sed 's/(host [^)]*)/(host h)/'; }
printf '%s\n' hook,calls,uninstrumented_ns,instrumented_ns,inside_ns c_wrap,100,1000,1200,50 c_wrap,100,1000,1300,70 op,10,100,150,0 op,0,5,9,0 > p.csv
is 'mean, population deviation, least, inside' '(calibration (host h)
  (cost (hook c_wrap) (mean_ns 2.5) (std_ns 0.5) (min_ns 2) (inside_ns 0.6) (n 2))
  (cost (hook op) (mean_ns 5) (std_ns 0) (min_ns 5) (inside_ns 0) (n 1)))' body p.csv
fails 'repeats that differ are refused' 1 'differ by 20 %' prof-calibrate --max-spread=0.1 p.csv
printf '%s\n' hook,calls,instrumented_ns,doubled_ns c_wrap,10,1100,1200 > d.csv
is 'from a run in which every hook ran twice' '(calibration (host h)
  (cost (hook c_wrap) (mean_ns 10) (std_ns 0) (min_ns 10) (n 1)))' body d.csv
fails 'a negative cost is told and taken as 0' 0 'came out as -2 ns' prof-calibrate <(echo hook,calls,uninstrumented_ns,instrumented_ns; echo x,50,1000,900)
done_testing
