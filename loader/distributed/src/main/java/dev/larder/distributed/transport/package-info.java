/** Transports between the nodes of a process group: {@link dev.larder.distributed.transport.GroupTransport}, found by ServiceLoader. */
@NullMarked
package dev.larder.distributed.transport;

import org.jspecify.annotations.NullMarked;
