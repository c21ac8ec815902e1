package dev.larder.internal.process;

import jdk.jfr.FlightRecorder;

/** Finds out if Java's flight recorder is in use. A runtime may lack it, so only code behind this check may name a class of an event. */
public final class FlightRecording {
    private static final boolean IS_INSTALLED =
            ModuleLayer.boot().findModule("jdk.jfr").isPresent();

    private FlightRecording() {}

    /** Returns whether a recording was started in this process. Until then, no class of an event is loaded. */
    public static boolean isOn() {
        return IS_INSTALLED && FlightRecorder.isInitialized();
    }
}
