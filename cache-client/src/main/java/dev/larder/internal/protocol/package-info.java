/**
 * The control plane: what clients ask of the daemon and what it answers, as messages over a Unix-domain socket. Clients
 * start at {@link dev.larder.internal.protocol.ControlClient}; the daemon reads requests with
 * {@link dev.larder.internal.protocol.RequestCodec} and writes answers with {@link dev.larder.internal.protocol.ResponseCodec}. The schema
 * {@code larder-protocol.xml} beside this package specifies every byte.
 */
@NullMarked
package dev.larder.internal.protocol;

import org.jspecify.annotations.NullMarked;
