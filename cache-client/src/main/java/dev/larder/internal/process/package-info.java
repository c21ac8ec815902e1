/**
 * Processes that may not outlive the one that started them: {@link dev.larder.internal.process.ProcessFamily} finds and kills their children, {@link
 * dev.larder.internal.process.Guardian} does so if this process is killed. {@link
 * dev.larder.internal.process.FlightRecording} reports whether events are recorded. For Larder's own modules, not for trainers.
 */
@NullMarked
package dev.larder.internal.process;

import org.jspecify.annotations.NullMarked;
