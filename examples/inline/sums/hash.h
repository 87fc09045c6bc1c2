unsigned mix(unsigned x);
unsigned fold(unsigned x, unsigned y);
unsigned bucket(unsigned x, int bits);
