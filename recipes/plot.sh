# Line plots of the recipes as SVG; their run scripts source it.

# draw_lines SERIES X-AXIS Y-AXIS X-LABEL Y-LABEL [UNIT]   draws standard input, lines of "series TAB x TAB y", in the order of
# the names in SERIES. An axis is "from to step"; UNIT follows the numbers of the y axis.
draw_lines() {
  awk -F '\t' -v order="$1" -v x_axis="$2" -v y_axis="$3" -v x_label="$4" -v y_label="$5" -v unit="${6:-}" '
    function column(v) { return 60 + 350 * (v - x[1]) / (x[2] - x[1]) }
    function row(v) { return 280 - 250 * (v - y[1]) / (y[2] - y[1]) }
    BEGIN {
      split(x_axis, x, " ")
      split(y_axis, y, " ")
    }
    { points[$1] = points[$1] sprintf("%g,%g ", column($2), row($3)) }
    END {
      n = split(order, series, " ")
      split("#d62728 #1f77b4 #2ca02c #9467bd #ff7f0e #8c564b #17becf #7f7f7f", colour, " ")
      print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 560 330\" font-family=\"sans-serif\" font-size=\"12\">"
      print "<rect width=\"560\" height=\"330\" fill=\"white\"/>"
      for (v = y[1]; v <= y[2] + y[3] / 2; v += y[3]) {
        printf "<path d=\"M50 %g H430\" stroke=\"#ddd\"/><text x=\"42\" y=\"%g\" text-anchor=\"end\">%g%s</text>\n", row(v), row(v) + 4, v, unit
      }
      for (v = x[1]; v <= x[2] + x[3] / 2; v += x[3]) printf "<text x=\"%g\" y=\"300\" text-anchor=\"middle\">%g</text>\n", column(v), v
      printf "<text x=\"240\" y=\"322\" text-anchor=\"middle\">%s</text>\n", x_label
      printf "<text x=\"50\" y=\"18\">%s</text>\n", y_label
      for (i = 1; i <= n; ++i) {
        printf "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2.5\"/>\n", points[series[i]], colour[i]
        printf "<path d=\"M445 %d h20\" stroke=\"%s\" stroke-width=\"2.5\"/><text x=\"472\" y=\"%d\">%s</text>\n", 40 + 22 * i, colour[i], 44 + 22 * i, series[i]
      }
      print "</svg>"
    }'
}
