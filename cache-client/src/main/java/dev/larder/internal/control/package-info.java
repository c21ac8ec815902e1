/** Calls the daemon and waits for its answers: {@link dev.larder.internal.control.ControlClient}, with one connection for each call. */
@NullMarked
package dev.larder.internal.control;

import org.jspecify.annotations.NullMarked;
