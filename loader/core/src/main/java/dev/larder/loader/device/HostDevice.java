package dev.larder.loader.device;

/** The choice of host memory without a device. */
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
