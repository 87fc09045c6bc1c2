#!/bin/bash
. "$(dirname "$0")/tap.sh"
printf 'a,b,c\n0,0,7\n1,1,7\n2,2,7\n3,3,7\n' > t.csv
is 'equal columns have one component' $'component,variance,ratio\n1,2,1\n2,0,0' bash -c "fit-pca t.csv | awk -F, 'NR > 1 { \$0 = sprintf(\"%d,%.9g,%.9g\", \$1, \$2, \$3) } { print }'"
# closed form: covariance [[5/3, 0], [0, 20/3 ...]] of independent columns 0..3 and 0, 4, 4, 0
printf 'a,b\n0,0\n1,4\n2,4\n3,0\n' > u.csv
is 'raw variances are those of uncorrelated columns' '5.33333333 1.66666667 ' bash -c "fit-pca --raw u.csv | awk -F, 'NR > 1 { printf \"%.9g \", \$2 } END { print \"\" }'"
is 'the largest loading is positive' $'component,feature,loading\n1,a,0\n1,b,1' fit-pca --raw --table=loadings -n 1 u.csv
is 'scores keep the group' $'g,pc_1\nx,-2\ny,2\n' bash -c "printf 'g,b\nx,0\ny,4\n' | fit-pca -g g --raw --table=scores -n 1; echo"
done_testing
