# A random Kineto trace: nested Python and operators of several threads and processes, launches, rows of the GPU, out of order.
import random, json, sys
random.seed(int(sys.argv[1]))
ev=[]; link=0
for pid in range(100, 100+random.randint(1,3)):
    for tid in range(pid, pid+random.randint(1,3)):
        def nest(a,b,depth):
            global link
            t=a
            while t<b and random.random()<0.8:
                s=t+random.randint(0,20); e=min(b,s+random.randint(0,200))
                if e<=s or s>=b: break
                cat=random.choice(["cpu_op","python_function","python_function","cuda_runtime","user_annotation","Trace"])
                args={}
                if cat=="cuda_runtime":
                    link+=1; args={"correlation": link if random.random()<.7 else random.randint(1,link)}
                    if random.random()<.9: 
                        g=s+random.randint(-5,300); ev.append(dict(ph="X",cat=random.choice(["kernel","gpu_memcpy"]),name=random.choice(["gemm","ncclKernel_X","Memcpy"]),pid=0,tid=7,ts=g/1000,dur=random.randint(0,90)/1000,args=dict(device=0,stream=random.choice([7,20]),correlation=args["correlation"],kind="HtoD")))
                out = random.randint(1,9) if random.random()<.05 else 0
                ev.append(dict(ph="X",cat=cat,name="f%d"%random.randint(0,9),pid=pid,tid=tid,ts=s/1000,dur=(e-s+out)/1000,args=args))
                if depth<6 and cat!="cuda_runtime": nest(s,e,depth+1)
                t=e
        nest(random.randint(0,50),3000,0)
random.shuffle(ev)
json.dump({"traceEvents":ev,"baseTimeNanoseconds":1712195495000000000},sys.stdout)
