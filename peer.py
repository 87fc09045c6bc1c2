import torch
torch.manual_seed(1); torch.set_num_threads(1)
n = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.ReLU(), torch.nn.Linear(64, 2)); o = torch.optim.Adam(n.parameters())
for i in range(100):
    l = n(torch.ones(8, 4)).pow(2).mean(); o.zero_grad(); l.backward(); o.step()
print(float(l))
try: torch.ones(2).matmul(torch.ones(3))
except RuntimeError: print("refused")
