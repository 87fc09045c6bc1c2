-- numbers: bodies under gravity, the largest singular value of a matrix, permutations reversed, a heap, vectors that grow and shrink
local function body(x, y, z, m) return { x = x, y = y, z = z, vx = y / 10, vy = -x / 10, vz = 0.01, mass = m } end
local bodies = { body(0, 0, 0, 39.5), body(4.8, -1.2, -0.1, 0.04), body(8.3, 4.1, -0.4, 0.01), body(12.9, -15.1, 0.2, 0.002) }
local function advance(dt)
    for i = 1, #bodies do
        local a = bodies[i]
        for j = i + 1, #bodies do
            local b = bodies[j]
            local dx, dy, dz = a.x - b.x, a.y - b.y, a.z - b.z
            local mag = dt / ((dx * dx + dy * dy + dz * dz) ^ 1.5 + 0.01)
            a.vx, a.vy, a.vz = a.vx - dx * b.mass * mag, a.vy - dy * b.mass * mag, a.vz - dz * b.mass * mag
            b.vx, b.vy, b.vz = b.vx + dx * a.mass * mag, b.vy + dy * a.mass * mag, b.vz + dz * a.mass * mag
        end
    end
    for _, b in ipairs(bodies) do b.x, b.y, b.z = b.x + dt * b.vx, b.y + dt * b.vy, b.z + dt * b.vz end
end
for _ = 1, 1500 do advance(0.001) end
local function element(i, j) return 1.0 / ((i + j) * (i + j + 1) / 2 + i + 1) end
local function multiply(v, flip)
    local r = {}
    for i = 0, #v - 1 do
        local s = 0.0
        for j = 0, #v - 1 do s = s + (flip and element(j, i) or element(i, j)) * v[j + 1] end
        r[i + 1] = s
    end
    return r
end
local u = {}
for i = 1, 48 do u[i] = 1.0 end
for _ = 1, 4 do u = multiply(multiply(u), true) end
local function flips(n)
    local p, count, most = {}, {}, 0
    for i = 1, n do p[i], count[i] = i, 0 end
    local i = 1
    while i <= n do
        if count[i] < i - 1 then
            local k = i % 2 == 1 and 1 or count[i] + 1
            p[k], p[i] = p[i], p[k]
            local q, f = { table.unpack(p) }, 0
            while q[1] ~= 1 do
                local lo, hi = 1, q[1]
                while lo < hi do q[lo], q[hi] = q[hi], q[lo] lo, hi = lo + 1, hi - 1 end
                f = f + 1
            end
            if f > most then most = f end
            count[i] = count[i] + 1
            i = 1
        else
            count[i] = 0
            i = i + 1
        end
    end
    return most
end
local heap, popped = {}, 0
local function push(x)
    heap[#heap + 1] = x
    local i = #heap
    while i > 1 and heap[i // 2] > heap[i] do heap[i], heap[i // 2] = heap[i // 2], heap[i] i = i // 2 end
end
local function pop()
    local top, last = heap[1], heap[#heap]
    heap[#heap] = nil
    if #heap == 0 then return top end
    heap[1] = last
    local i = 1
    while true do
        local c = 2 * i
        if c > #heap then break end
        if c < #heap and heap[c + 1] < heap[c] then c = c + 1 end
        if heap[i] <= heap[c] then break end
        heap[i], heap[c], i = heap[c], heap[i], c
    end
    return top
end
for i = 1, 2000 do push(i * 7919 % 4001) if i % 3 == 0 then popped = popped ~ pop() end end
local seen, vector = {}, {}
for i = 1, 20000 do
    local k = i * 37 % 1009
    seen[k] = not seen[k] or nil
    if i % 5 == 0 then vector[#vector] = nil else vector[#vector + 1] = k end
end
local left = 0
for _ in pairs(seen) do left = left + 1 end
print(string.format("%.6f %.6f", bodies[1].x, u[1]), flips(6), popped, left, #vector)
