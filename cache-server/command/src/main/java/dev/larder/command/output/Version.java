package dev.larder.command.output;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.IVersionProvider;

/** Reads the version from the manifest of the jar. */
public final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
        @Nullable String version = Version.class.getPackage().getImplementationVersion();
        return new String[] {"larder " + (version == null ? "development" : version)};
    }
}
