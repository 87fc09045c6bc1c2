// numbers in arrays: matrices, a sum of series, bits
function matrix(n, f) { var m = []; for (var i = 0; i < n; i++) { m[i] = []; for (var j = 0; j < n; j++) m[i][j] = f(i, j); } return m; }
function product(a, b) {
    return matrix(a.length, function (i, j) { var s = 0; for (var k = 0; k < a.length; k++) s += a[i][k] * b[k][j]; return s; });
}
var a = matrix(24, function (i, j) { return (i * 3 + j * 5) % 11; }), p = a;
for (var i = 0; i < 3; i++) p = product(p, a).map(function (row) { return row.map(function (x) { return x % 1009; }); });
print(p[3][4], p[23][23]);
var s = 0;
for (i = 1; i < 8000; i++) s += (i & 1 ? 1 : -1) / i;
print(s.toFixed(6), Math.round(Math.sqrt(s) * 1e6));
var x = 123456789, bits = 0;
for (i = 0; i < 6000; i++) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; bits += x & 1; }
print(x, bits);
