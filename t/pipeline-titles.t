#!/bin/bash
# every plot says in its title how its numbers were obtained: simulated in, never real out.  Each is drawn from a small
# table of its columns, once with a column kind, whatever it is given beside, and once without, when it says what it is
# given, or that it does not know.
. "$(dirname "$0")/tap.sh"
needs gnuplot
declare -A drawn
no=0
# draw PLOT [ARGUMENT]... < table without kind
draw() {
    local plot=$1 kind how kinds=(simulated emulated)
    kind=${kinds[$((no++ % 2))]} drawn[$1]=1
    shift
    cat > plain.csv
    sed "1s/\$/,kind/; 2,\$s/\$/,$kind/" plain.csv > kind.csv
    says kind.csv "$kind" "kind='real'"
    case $((no % 3)) in                                  # time is dear
    0) says plain.csv 'of unknown kind' "kind=''" ;;
    1) says plain.csv emulated "kind='emulated'" ;;
    esac
}
says() { # TABLE KIND GIVEN
    gnuplot -e "$3" -c "$root/plots/$plot.gp" "$1" x.svg "${args[@]}" 2> error < /dev/null
    if grep -qE "(>|from )$2(: | kernel)" x.svg && ! grep -qE '>real|from real' x.svg; then
        ok "$plot.gp, $1: $2" true
    else
        ok "$plot.gp, $1: $2 ($(tail -n 1 error) $(grep -oE '>[^<]*(real|simulated|emulated|unknown)[^<]*<' x.svg | head -n 2))" false
    fi
}
with() { plot=$1; shift; args=("$@"); draw "$plot"; }

with bench-distribution wall_seconds a b <<< $'label,phase,wall_seconds\na,measure,1\nb,measure,2\na,measure,1.5\nb,measure,2.5'
with bench-sequence wall_seconds a b <<< $'label,phase,wall_seconds\na,measure,1\nb,measure,2\na,measure,1.5\nb,measure,2.5'
with bench-ratio label ratio <<< $'label,ratio,lower_ratio,upper_ratio\na,1.1,1,1.2\nb,0.9,0.8,1'
with flambda-classes <<< $'tau,doesnt_matter_ratio,inline_ratio,apply_ratio\n0.001,0.1,0.5,0.4\n0.01,0.3,0.4,0.3'
with flambda-generalise 'lasso labels' <<< $'model,accuracy_ratio,majority_ratio,ceiling_ratio\na,0.7,0.5,0.9\nb,0.6,0.5,0.9'
with flambda-greedy <<< $'set,k,mean_ratio,other_ratio\ntrain,1,0.5,0.6\ntrain,2,0.3,0.4'
with flambda-pca p z_1 z_2 <<< $'initial,saved_ratio,z_1,z_2\n1,0,0,0\n0,0.1,1,2\n0,0.2,-1,1'
with flambda-regret <<< $'policy,p25_regret_ratio,p50_regret_ratio,p75_regret_ratio\na,0.1,0.2,0.3\nb,0.2,0.3,0.5'
with flambda-savings a <<< $'benchmark,saved_ratio,lower_ratio,upper_ratio\np,0.1,0,0.2\nq,0.2,0.1,0.3'
with flambda-summary test <<< $'policy,n,q1,median,q3,min,max\na,5,0.1,0.2,0.3,0,0.4\nb,5,0.1,0.2,0.3,0,0.4'
for p in compare policy; do
    with inline-$p <<< $'benchmark,label,ratio,lower_ratio,upper_ratio\np,learned,0.9,0.8,1\nq,learned,0.9,0.8,1'
done
drawn[inline-rows]=1                                     # what these two call
with inline-frontier p <<< $'program,decisions,text_ratio,instructions_ratio,frontier\np,default,1,1,no\np,b,0.9,0.9,yes\np,c,1.1,0.8,yes'
with inline-rewards p <<< $'program,place,rank,immediate,lower,upper\np,1,1,0.3,0.2,0.4\np,2,2,-0.1,-0.2,0'
with inline-trace p <<< $'program,evaluation,algorithm,instructions_ratio,best_ratio,temperature\np,0,default,1,1,0.01\np,1,anneal,0.9,0.9,0.005\np,2,anneal,0.95,0.9,0.001'
with loop-bars products 50 <<< $'problem,lib,gflops\n(mm 6 6 2),ours,20\n(mm 6 6 2),openblas,30\n(mm 8 6 2),ours,25\n(mm 8 6 2),openblas,20'
with loop-curve <<< $'algo,steps,return\na,10,0.1\na,20,0.2\na,30,0.25'
with loop-learning a <<< $'algo,steps,return\na,10,0.1\na,20,0.2\na,30,0.25'
with loop-policy <<< $'algo,problems,best_ratio,least_best_ratio,mean_seconds,max_seconds\na,3,0.9,0.8,0.1,0.2\nb,3,0.8,0.7,0.1,0.3'
with loop-roofline 100 'ours openblas' 10000000000 <<< $'lib,intensity,gflops\nours,1,10\nours,10,50\nopenblas,5,20'
with loop-steps greedy1 <<< $'algo,step,gflops,seconds\ngreedy1,0,10,0.1\ngreedy1,1,20,0.2'
with loop-study <<< $'method,algo,problems,best_ratio,least_best_ratio,mean_seconds,max_seconds\na,a-1,3,0.9,0.8,0.1,0.2\nb,b-1,3,0.8,0.7,0.1,0.3'
with loop-violin 1 <<< $'algo,position,speedup\na,1,1.5\na,1,2\na,1,1.2\nb,2,1.5\nb,2,2\nb,2,1.2'
with place-cache <<< $'network,batch,formulation,ratio,control,speedup_over_control_ratio,lower_ratio,upper_ratio,given_bytes\nn,1,static,,cache,1.5,,,\nn,1,sync,,cache,1.7,,,\nm,1,async,4:1,paged,7,6,8,3e8'
with place-cost n <<< $'network,batch,formulation,ratio,performance_ratio,lower_ratio,upper_ratio,cost_ratio,reached_ratio,ratio_off\nn,2,sync,8:1,0.9,0.8,1,0.5,8,0\nn,2,sync,4:1,0.9,,,0.5,4,0\nn,2,sync,1:1,0.95,0.9,1,0.7,2,1'
with place-error n <<< $'network,batch,formulation,ratio,error_ratio\nn,2,static,8:1,0.05\nn,2,sync,4:1,0.02'
with place-gpu <<< $'network,batch,formulation,ratio,speedup_over_managed_ratio,lower_ratio,oracle_ratio\nn,1,sync,2:1,1.2,1.1,1.4\nn,1,async,2:1,1.3,1.2,1.4'
with place-speedup n <<< $'network,batch,formulation,ratio,speedup_over_slow_ratio,lower_ratio,upper_ratio,loss_ratio,least_loss_ratio,reached_ratio,ratio_off\nn,1,static,8:1,1.5,,,0.3,0.2,8,0\nn,1,sync,8:1,1.7,1.6,1.8,0.2,0.1,8,0\nn,1,sync,4:1,1.7,1.6,1.8,0.2,0.1,5,1\nn,1,fast,,2.1,2,2.2,0,0,,0'
with place-study n <<< $'batch,formulation,default_bytes,fast_memory_bytes,slowdown_ratio,lower_ratio,upper_ratio,fast_input_ratio,fast_output_ratio,moved_to_fast_bytes,moved_to_slow_bytes,ratio_off\n2,static,4e9,1e9,1.5,1.4,1.6,0.5,0.5,0,0,0\n2,sync,4e9,1e9,1.3,1.2,1.4,0.5,0.6,1e9,1e9,0\n2,sync,4e9,2e9,1.2,1.1,1.3,0.7,0.6,1e9,1e9,0\n2,async,4e9,2e9,1.2,1.1,1.3,0.7,0.6,1e9,1e9,0'
with place-sweep n <<< $'network,formulation,fast_ratio,slowdown_ratio,least_slowdown_ratio\nn,static,0.2,1.5,1.4\nn,sync,0.5,1.2,1.1\nn,static,0.5,1.3,1.2'
with place-torch n <<< $'net,way,max_peak_bytes,median_free_seconds,min_free_seconds,max_free_seconds\nn,plain,1e9,1,0.9,1.1\nn,plan-25,8e8,1.1,1,1.2\nn,checkpoint,8e8,1.2,1.1,1.3'
with prof-bars <<< $'op,cats,total_ns\nf,CPU,1000000\nf,Python,500000\ng,CPU,100000'
with prof-breakdown <<< $'field,bench,mean\ngpu_s,a,1\nc_s,a,2\npython_s,a,3\ngpu_s,b,1\nc_s,b,2\npython_s,b,3'
with prof-cost <<< $'label,round,update_seconds\npython,1,0.1\nrecorded,1,0.12\ncprofile,1,0.2\nc,1,0.05\npython,2,0.1'
with prof-flame <<< $'depth,start_us,end_us,name\n0,0,1000000,main\n1,0,500000,f'
with prof-functions <<< $'function,cprofile_share,recorded_share\nf,0.5,0.45\ng,0.2,0.25'
with prof-strip <<< $'lane,start_ns,end_ns,busy_ratio\nPython,0,1000,0.5\nC,0,1000,0.7\nGPU,0,1000,0.1'
with prof-summary total_s <<< $'field,bench,mean,std\ntotal_s,a,1,0.1\ntotal_s,b,2,0.1'
with prof-survey <<< $'env,algo,op,category,share_ratio\ncartpole,dqn,simulation,Simulator,0.2\ncartpole,dqn,inference,Backend,0.8'
with prof-timeline <<< $'lane,cat,start_ns,end_ns\nt1,Python,0,1000\nt1,C,100,500'
with prof-transitions <<< $'op,category,count\nf,CPU,10\nf,GPU,20'
with prof-whatif <<< $'shape,achieved,predicted,low,high,guessed,naive\na,1.2,1.21,1.19,1.22,1.3,1.4\nb,1.5,1.4,1.3,1.5,1.3,1.4'

left_out() {
    local f
    for f in "$root"/plots/*.gp; do
        f=$(basename "$f" .gp)
        [[ $f = house || $f = kind || -n ${drawn[$f]-} ]] || echo "$f"
    done
}
ok "no plot is left out $(left_out)" [ -z "$(left_out)" ]
ok 'no plot says real by itself' eval '! grep -nE "^[^#]*(title|label|kind).*[\"'"'"']real" "$root"/plots/*.gp |
    grep -v "plots/kind.gp"'
done_testing
