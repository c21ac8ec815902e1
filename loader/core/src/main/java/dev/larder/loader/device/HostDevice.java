package dev.larder.loader.device;

/** Memory of the host, which needs no device. */
enum HostDevice implements Device {
    HOST;

    @Override
    public boolean fallsBackToHost() {
        return true;
    }

    @Override
    public String toString() {
        return "host";
    }
}
