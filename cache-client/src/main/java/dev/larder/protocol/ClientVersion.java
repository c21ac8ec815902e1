package dev.larder.protocol;

/** The version of this client, as the jar's manifest has it. */
final class ClientVersion {
    private ClientVersion() {}

    static String text() {
        String version = ClientVersion.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
