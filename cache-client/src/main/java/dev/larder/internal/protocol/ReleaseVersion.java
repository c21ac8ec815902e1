package dev.larder.internal.protocol;

/** The Larder version of this code, from its jar's manifest. */
public final class ReleaseVersion {
    private ReleaseVersion() {}

    /** Returns the version, or {@code development} if the classes are not from a jar. */
    public static String text() {
        String version = ReleaseVersion.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
