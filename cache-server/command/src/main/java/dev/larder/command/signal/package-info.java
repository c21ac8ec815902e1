/**
 * {@link dev.larder.command.signal.Signals} hears signals of the operating system, {@link
 * dev.larder.command.signal.StopCount} counts how often somebody asks for an end.
 */
@NullMarked
package dev.larder.command.signal;

import org.jspecify.annotations.NullMarked;
