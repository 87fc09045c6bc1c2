// objects, closures, sorting, recursion: a small interpreter's bread and butter
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
print(fib(18));
var seed = 7;
function random() { seed = (seed * 16807) % 2147483647; return seed; }
var list = [];
for (var i = 0; i < 1500; i++) list.push({ key: random() % 1000, name: 'n' + i });
list.sort(function (a, b) { return a.key - b.key || (a.name < b.name ? -1 : 1); });
print(list[0].name, list[749].name, list[1499].name);
var count = {};
for (i = 0; i < list.length; i++) count[list[i].key] = (count[list[i].key] || 0) + 1;
var most = 0, at;
for (var k in count) if (count[k] > most) { most = count[k]; at = k; }
print(at, most);
function counter() { var n = 0; return { up: function (k) { n += k; return n; } }; }
var c = counter();
for (i = 0; i < 4000; i++) c.up(i % 7);
print(c.up(0));
var sieve = [];
for (i = 2; i < 4000; i++) if (!sieve[i]) for (var j = i * i; j < 4000; j += i) sieve[j] = true;
var primes = 0;
for (i = 2; i < 4000; i++) if (!sieve[i]) primes++;
print(primes);
