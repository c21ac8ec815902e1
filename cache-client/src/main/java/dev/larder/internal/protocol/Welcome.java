package dev.larder.internal.protocol;

import java.time.Duration;

/** Introduces the daemon. {@code formatVersion} is that of the store on disk. */
public record Welcome(
        int protocolMajor, int protocolMinor, int formatVersion, long daemonPid, Duration uptime, String daemonVersion)
        implements Response {}
