/**
 * {@link dev.larder.command.signal.Signals} handles signals of the operating system, {@link
 * dev.larder.command.signal.StopCount} counts requests to stop.
 */
@NullMarked
package dev.larder.command.signal;

import org.jspecify.annotations.NullMarked;
