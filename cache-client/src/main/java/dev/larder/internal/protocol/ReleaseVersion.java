package dev.larder.internal.protocol;

/** The version of Larder that this code is of, as its jar's manifest has it. */
public final class ReleaseVersion {
    private ReleaseVersion() {}

    /** Returns it, or {@code development} where the classes do not come from a jar. */
    public static String text() {
        String version = ReleaseVersion.class.getPackage().getImplementationVersion();
        return version == null ? "development" : version;
    }
}
