/**
 * The calls of the control plane and the answers of the daemon. {@link dev.larder.internal.protocol.Protocol} lists the methods, and
 * the file {@code dev.larder.Store.varlink} in this package specifies them.
 */
@NullMarked
package dev.larder.internal.protocol;

import org.jspecify.annotations.NullMarked;
