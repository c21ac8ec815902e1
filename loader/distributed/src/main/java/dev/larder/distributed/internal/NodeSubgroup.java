package dev.larder.distributed.internal;

import dev.larder.distributed.internal.meeting.Endpoint;
import dev.larder.distributed.internal.meeting.NodeLinks;
import dev.larder.distributed.internal.meeting.NodeMeeting;
import dev.larder.distributed.internal.meeting.RankSeat;
import dev.larder.distributed.internal.meeting.RunSecret;
import dev.larder.distributed.transport.GroupTransport;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The meeting of some ranks of a group that spans nodes: the first of them listens at a free port, and sends its address in a call of that
 * group. For one thread.
 */
public final class NodeSubgroup implements NodesSpec.Way, AutoCloseable {
    /** The ints for an address in that call. */
    public static final int ADDRESS_WORDS = 64;

    private final NodesSpec.Way parents;
    private final String host;
    private final String key;
    private final RankLayout layout;
    private final int place;
    private @Nullable NodeMeeting meeting;
    private Endpoint meetingPlace = new Endpoint("", 0);

    /**
     * Prepares the meeting.
     *
     * @param parents the meeting of the parent group
     * @param host the address of this node
     * @param place of this rank in the subgroup; negative if it is not in it
     */
    public NodeSubgroup(NodesSpec.Way parents, String host, String key, RankLayout layout, int place) {
        this.parents = parents;
        this.host = host;
        this.key = key;
        this.layout = layout;
        this.place = place;
    }

    private RankSeat seat(String card) {
        return RankSeat.ofNode(layout.blockOf(place), layout.blocks(), key, parents.secret(), card);
    }

    /** Listens as the first rank, and writes the address to {@code words}. */
    public void listen(int[] words) {
        NodeMeeting opened = NodeMeeting.listen(host, parents.secret());
        meeting = opened;
        byte[] text = (host + " " + opened.port()).getBytes(StandardCharsets.UTF_8);
        words[0] = text.length;
        for (int i = 0; i < text.length; i++) {
            words[1 + i] = text[i];
        }
    }

    /** Reads the address of the first rank. */
    public void goTo(int... words) {
        byte[] text = new byte[words[0]];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) words[1 + i];
        }
        String[] fields = new String(text, StandardCharsets.UTF_8).split(" ", -1);
        meetingPlace = new Endpoint(fields[0], Integer.parseInt(fields[1]));
    }

    /** Returns the settings of the subgroup for this rank, which is in it. */
    public NodesSpec spec(GroupSpec parent, int number, RankNames names) {
        int block = layout.blockOf(place);
        GroupSpec local = parent.subgroup(number, layout.placeOf(place), layout.size(block))
                .with(names);
        return new NodesSpec(local, block, layout.blocks(), layout.worldSize(), this);
    }

    @Override
    public GroupTransport transport() {
        return parents.transport();
    }

    @Override
    public String host() {
        return host;
    }

    @Override
    public RunSecret secret() {
        return parents.secret();
    }

    @Override
    public int windowByteSize() {
        return parents.windowByteSize();
    }

    @Override
    public NodeLinks meet(String card, Duration timeout) {
        NodeMeeting opened = meeting;
        return opened == null ? NodeMeeting.meet(meetingPlace, seat(card), timeout) : opened.await(seat(card), timeout);
    }

    @Override
    public void close() {
        if (meeting != null) {
            meeting.close();
        }
    }
}
