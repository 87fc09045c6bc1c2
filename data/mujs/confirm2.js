// a tree, a queue, exceptions, and a tiny parser
function insert(t, k) {
    if (!t) return { k: k, l: null, r: null };
    if (k < t.k) t.l = insert(t.l, k); else t.r = insert(t.r, k);
    return t;
}
function walk(t, f) { if (t) { walk(t.l, f); f(t.k); walk(t.r, f); } }
var t = null, n = 17, sum = 0, order = 0, last = -1;
for (var i = 0; i < 900; i++) { n = (n * 171 + 11) % 30269; t = insert(t, n); }
walk(t, function (k) { sum += k; if (k < last) order++; last = k; });
print(sum, order);
function Parser(s) { this.s = s; this.i = 0; }
Parser.prototype.factor = function () {
    if (this.s.charAt(this.i) == '(') { this.i++; var v = this.sum(); if (this.s.charAt(this.i++) != ')') throw new Error('at ' + this.i); return v; }
    var from = this.i;
    while (/[0-9]/.test(this.s.charAt(this.i))) this.i++;
    if (from == this.i) throw new Error('at ' + this.i);
    return Number(this.s.substring(from, this.i));
};
Parser.prototype.term = function () { var v = this.factor(); while (this.s.charAt(this.i) == '*') { this.i++; v *= this.factor(); } return v; };
Parser.prototype.sum = function () { var v = this.term(); while (this.s.charAt(this.i) == '+') { this.i++; v += this.term(); } return v; };
var total = 0, wrong = 0;
for (i = 0; i < 300; i++) {
    try { total += new Parser('(' + i + '+2)*3+4*(5+' + (i % 9 ? i : '') + ')').sum(); } catch (e) { wrong++; }
}
print(total, wrong);
var queue = [1], steps = 0;
while (queue.length && steps < 150) { var q = queue.shift(); steps++; if (q < 4000) queue.push(q * 2, q * 2 + 1); }
print(steps, queue.length);
