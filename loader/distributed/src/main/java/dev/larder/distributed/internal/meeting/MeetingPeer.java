package dev.larder.distributed.internal.meeting;

import dev.larder.distributed.internal.meeting.MeetingMessage.Hello;

/**
 * Another rank of a meeting, or the leader of another node.
 *
 * @param node its number
 * @param hello its first message; in a guest, the guest's own first message
 */
record MeetingPeer(int node, Hello hello, Link<MeetingMessage> link, Outbox<MeetingMessage> outbox)
        implements AutoCloseable {
    @Override
    public void close() {
        outbox.close();
        link.close();
    }
}
