package dev.larder.server.source;

import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

/**
 * Says how a source is scanned.
 *
 * @param workers threads that open files
 * @param takesHidden whether files and folders whose names begin with a dot are looked at
 * @param isCancelled asked between files; once it says yes the scan ends with a {@link
 *     java.util.concurrent.CancellationException}
 * @param onChecked told how many more files were checked, from changing threads
 */
public record ScanSettings(int workers, boolean takesHidden, BooleanSupplier isCancelled, IntConsumer onChecked) {}
