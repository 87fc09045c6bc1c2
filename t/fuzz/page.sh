#!/bin/bash
# page.sh DIR - events, a table and the pieces of a path, parted by form feeds
{
    printf '%s\n' proc,tid,kind,cat,start_ns,end_ns,name,link,flag 1,1,cat,Python,0,50,f,, '1,1,op,,10,40,"</script>",,' 1,s,gpu,GPU,20,60,k,9,
    printf '\fname,cat,self_ns\n"<b>&",Python,7\n\f'
    printf '%s\n' start_ns,end_ns,proc,tid 0,20,1,1 20,60,1,s
} > "$1/tables"
