#define DEB_HOST_MULTIARCH "any"
