-- classes, variable arguments, errors caught, queues, sorting by a function, strings taken apart
local Account = {}
Account.__index = Account
Account.__lt = function(a, b) return a.money < b.money end
function Account.new(name, money) return setmetatable({ name = name, money = money }, Account) end
function Account:put(x) if x < 0 then error("negative") end self.money = self.money + x end
local all = {}
for i = 1, 300 do all[i] = Account.new("n" .. i, (i * 7919) % 1000) end
local failed = 0
for i = 1, 3000 do if not pcall(all[i % 300 + 1].put, all[i % 300 + 1], i % 17 - 1) then failed = failed + 1 end end
table.sort(all)
table.sort(all, function(a, b) return a.name < b.name end)
local function sum(...)
    local s = 0
    for _, v in ipairs({ ... }) do s = s + v end
    return s + select("#", ...)
end
local total = 0
for i = 1, 1500 do total = total + sum(i, i + 1, i + 2) end
local queue, done = {}, 0
for i = 1, 1500 do
    table.insert(queue, i)
    if i % 3 == 0 then done = done + table.remove(queue) end
end
local fields, line = {}, "alpha=1,beta=22,gamma=333,delta=4444"
for _ = 1, 60 do for k, v in line:gmatch("(%w+)=(%w+)") do fields[k] = (fields[k] or 0) + tonumber(v) end end
local function counter() local n = 0 return function() n = n + 1 return n end end
local c = counter()
for _ = 1, 4000 do c() end
local keys = {}
for k in pairs(fields) do keys[#keys + 1] = k:upper() .. "/" .. #k end
table.sort(keys)
print(all[1].name, failed, total, done, table.concat(keys, " "), c(), tostring(fields.beta):rep(3, "-"))
