-- objects with metatables, string building, coroutines
local Point = {}
Point.__index = Point
Point.__add = function(a, b) return setmetatable({ x = a.x + b.x, y = a.y + b.y }, Point) end
local p = setmetatable({ x = 0, y = 0 }, Point)
for i = 1, 30000 do p = p + setmetatable({ x = i % 7, y = i % 11 }, Point) end
local producer = coroutine.wrap(function() for i = 1, 30000 do coroutine.yield(i * i) end end)
local sum = 0
for v in producer do if not v then break end sum = sum + v % 97 end
local text = {}
for i = 1, 8000 do text[i] = ("%s-%05d"):format(i % 2 == 0 and "even" or "odd", i) end
local joined = table.concat(text, ";")
local swapped = joined:gsub("(%a+)-(%d+)", "%2-%1")
print(p.x, p.y, sum, #joined, swapped:sub(1, 20))
