# accuracy on programs never seen, per kind of model: model, accuracy_ratio, majority_ratio, ceiling_ratio; ARG3: title
wide = 800
high = 480
call ARG0[:strlen(ARG0) - strlen("flambda-generalise.gp")] . "house.gp" ARG2
@kinds
set title house_title(ARG3 . ", every program left out once") noenhanced
set ylabel "share of call sites right"
set yrange [0:1]
set boxwidth 0.6
set key outside top horizontal
@footer
plot ARG1 using 0:(column("accuracy_ratio")):xtic(stringcolumn("model")) with boxes lc rgb colour(1) title "model", \
     ARG1 using 0:(column("majority_ratio")) with lines lw 2 lc rgb colour(2) \
         title "always the commonest class of the others", \
     ARG1 using 0:(column("ceiling_ratio")) with lines lw 2 dt 2 lc rgb base \
         title "ceiling of any function of the features"
