/** Asks the daemon, and waits for what it answers: {@link dev.larder.internal.control.ControlClient}, over one connection for each call. */
@NullMarked
package dev.larder.internal.control;

import org.jspecify.annotations.NullMarked;
