-- calls, tables, strings, closures: the work that an interpreter's inner functions do
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local seed = 42
local function rnd(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed % n end
local t = {}
for i = 1, 6000 do t[i] = rnd(100000) end
table.sort(t)
local words, count = {}, 0
for w in (("the quick brown fox jumps over the lazy dog "):rep(150)):gmatch("%a+") do
    words[w] = (words[w] or 0) + 1
    count = count + 1
end
local function compose(f, g) return function(x) return g(f(x)) end end
local inc = function(x) return x + 1 end
local f = inc
for _ = 1, 20 do f = compose(f, inc) end
local s = 0
for i = 1, 400 do s = s + f(i) end
local parts = {}
for i = 1, 1500 do parts[#parts + 1] = string.format("%d:%x", i, i * 31) end
print(fib(21), t[1], t[#t], count, words.the, s, #table.concat(parts, ","))
