/** Meetings of ranks, nodes and launchers that belong to one run; {@link dev.larder.distributed.internal.meeting.Link} is a connection. */
@NullMarked
package dev.larder.distributed.internal.meeting;

import org.jspecify.annotations.NullMarked;
