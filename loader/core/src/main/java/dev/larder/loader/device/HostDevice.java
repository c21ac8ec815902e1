package dev.larder.loader.device;

/** Host memory, which needs no device. */
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
