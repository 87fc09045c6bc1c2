# a vision network trained for some steps, as one writes it; nothing here knows of millrace
import resource
import torch
import torchvision

torch.manual_seed(1)
model = torchvision.models.mobilenet_v2(num_classes=10)
optimiser = torch.optim.SGD(model.parameters(), lr=0.01)
images, labels = torch.randn(48, 3, 128, 128), torch.randint(10, (48,))
for step in range(4):
    loss = torch.nn.functional.cross_entropy(model(images), labels)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    print(f'step {step}: loss {loss.item():.6f}')
print(f'at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB')
