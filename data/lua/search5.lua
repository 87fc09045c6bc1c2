-- text and objects: words counted, a small parser, inheritance, trees built and dropped, generators, strings put together
local source = [[
let area = (width + 2 * border) * (height + 2 * border) ;
let ratio = area / (1 + depth) - -3.5 ; let name = width * height * depth ; ]]
local function tokens(text)
    return coroutine.wrap(function()
        for word in text:gmatch("%S+") do
            for sign, rest in word:gmatch("([%(%)]*)([^%(%)]*)") do
                for c in sign:gmatch(".") do coroutine.yield(c) end
                if rest ~= "" then coroutine.yield(rest) end
            end
        end
    end)
end
local Node = {}
Node.__index = Node
function Node:size() return 1 + (self.left and self.left:size() or 0) + (self.right and self.right:size() or 0) end
local Binary = setmetatable({ kind = "binary" }, { __index = Node })
Binary.__index = Binary
Binary.__tostring = function(n) return "(" .. tostring(n.left) .. n.op .. tostring(n.right) .. ")" end
Binary.__eq = function(a, b) return a.op == b.op end
local Leaf = setmetatable({ kind = "leaf" }, { __index = Node })
Leaf.__index = Leaf
Leaf.__tostring = function(n) return n.text end
local level = { ["+"] = 1, ["-"] = 1, ["*"] = 2, ["/"] = 2 }
local function parse(next_token)
    local token = next_token()
    local function expression(least)
        local left
        if token == "(" then
            token = next_token()
            left = expression(1)
        else
            left = setmetatable({ text = token }, Leaf)
        end
        token = next_token()
        while level[token] and level[token] >= least do
            local op = token
            token = next_token()
            left = setmetatable({ op = op, left = left, right = expression(level[op] + 1) }, Binary)
        end
        return left
    end
    local list = {}
    while token do
        if token == "=" then
            token = next_token()
            list[#list + 1] = expression(1)
        else
            token = next_token()
        end
    end
    return list
end
local nodes, shown = 0, ""
for _ = 1, 60 do
    for _, e in ipairs(parse(tokens(source))) do
        nodes = nodes + e:size()
        shown = tostring(e)
    end
end
local counts = setmetatable({}, { __index = function(t, k) rawset(t, k, 0) return 0 end })
for w in source:rep(40):lower():gmatch("%a+") do counts[w] = counts[w] + 1 end
local order = {}
for w, n in pairs(counts) do order[#order + 1] = { w, n } end
table.sort(order, function(a, b) return a[2] ~= b[2] and a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
local function tree(d) if d == 0 then return {} end return { tree(d - 1), tree(d - 1) } end
local function check(t) return t[1] and 1 + check(t[1]) + check(t[2]) or 1 end
local trees = 0
for d = 2, 9 do trees = trees + check(tree(d)) end
collectgarbage()
local out = {}
for i = 1, 800 do
    local line = ("%5d %-8s %6.2f|"):format(i, order[i % #order + 1][1], i / 7)
    out[#out + 1] = line:gsub("%d", function(c) return string.char(97 + tonumber(c)) end):upper()
end
local text = table.concat(out, "\n")
local found = select(2, text:gsub("AREA", "%0%0"))
local reversed, letters = text:sub(1, 300):reverse(), 0
for i = 1, #text do if text:find("^%u", i) then letters = letters + 1 end end
local function fold(f, first, ...) local s = first for i = 1, select("#", ...) do s = f(s, (select(i, ...))) end return s end
local most = 0
for i = 1, 800 do most = math.max(most, fold(math.max, i, i * 3 % 17, i * 5 % 19, i % 23)) end
print(nodes, #shown, order[1][1], order[1][2], trees, #text, found, #reversed, letters, most, next({}) == nil)
