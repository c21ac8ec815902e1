package dev.larder.readers.hdf5;

import io.jhdf.Constants;
import io.jhdf.FractalHeap;
import io.jhdf.GroupSymbolTableNode;
import io.jhdf.LocalHeap;
import io.jhdf.ObjectHeader;
import io.jhdf.SymbolTableEntry;
import io.jhdf.Utils;
import io.jhdf.btree.BTreeV1;
import io.jhdf.btree.BTreeV2;
import io.jhdf.btree.record.LinkNameForIndexedGroupRecord;
import io.jhdf.object.message.LinkInfoMessage;
import io.jhdf.object.message.SymbolTableMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists the members of a group by name and address, without opening them. The library opens all of them, so that one unreadable member hides
 * the others.
 */
final class GroupMembers {
    private static final int SOFT_LINK = 2;

    /** Flags of a link, and its types. */
    private static final int HAS_ORDER = 1 << 2;

    private static final int HAS_TYPE = 1 << 3;
    private static final int HAS_CHARACTERS = 1 << 4;
    private static final int HARD = 0;
    private static final int SOFT = 1;
    private static final int EXTERNAL = 64;

    private GroupMembers() {}

    /**
     * A member of a group: an object at an address, or a link.
     *
     * @param link the link in words, such as {@code the soft link /a/b}; null for an object
     * @param target the path that a soft link has; null for other members
     */
    record Member(String name, @Nullable String link, @Nullable String target, long address) {
        static Member object(String name, long address) {
            return new Member(name, null, null, address);
        }

        static Member soft(String name, String target) {
            return new Member(name, "the soft link " + target, target, 0);
        }
    }

    static List<Member> of(HdfBackingStorage file, ObjectHeader group) {
        return group.hasMessageOfType(SymbolTableMessage.class)
                ? ofTable(file, group.getMessageOfType(SymbolTableMessage.class))
                : ofLinks(file, group);
    }

    /** Lists the members of a group as the first versions of HDF5 write it. */
    private static List<Member> ofTable(HdfBackingStorage file, SymbolTableMessage table) {
        ByteBuffer names = new LocalHeap(file, table.getLocalHeapAddress()).getDataBuffer();
        List<Member> members = new ArrayList<>();
        for (long child :
                BTreeV1.createGroupBTree(file, table.getBTreeAddress()).getChildAddresses()) {
            for (SymbolTableEntry entry : new GroupSymbolTableNode(file, child).getSymbolTableEntries()) {
                String name = text(names, entry.getLinkNameOffset());
                members.add(
                        entry.getCacheType() == SOFT_LINK
                                ? Member.soft(name, text(names, entry.getLinkValueOffset()))
                                : Member.object(name, entry.getObjectHeaderAddress()));
            }
        }
        return members;
    }

    private static String text(ByteBuffer heap, int offset) {
        return Utils.readUntilNull(heap.duplicate().position(offset));
    }

    private static List<Member> ofLinks(HdfBackingStorage file, ObjectHeader group) {
        List<Member> members = new ArrayList<>();
        LinkInfoMessage info = group.getMessageOfType(LinkInfoMessage.class);
        if (info.getBTreeNameIndexAddress() == Constants.UNDEFINED_ADDRESS) {
            for (RawMessages.Raw message : RawMessages.of(file, group.getAddress())) {
                if (message.type() == RawMessages.LINK) {
                    members.add(member(message.data(), file.getSizeOfOffsets()));
                }
            }
            return members;
        }
        FractalHeap heap = new FractalHeap(file, info.getFractalHeapAddress());
        BTreeV2<LinkNameForIndexedGroupRecord> index = new BTreeV2<>(file, info.getBTreeNameIndexAddress());
        for (LinkNameForIndexedGroupRecord link : index.getRecords()) {
            members.add(member(heap.getId(link.getId()), file.getSizeOfOffsets()));
        }
        return members;
    }

    /** Reads a link with a name in UTF-8. The library replaces the bytes beyond ASCII in names of groups that h5py writes. */
    private static Member member(ByteBuffer in, int addressBytes) {
        in.get(); // version
        int flags = in.get();
        int type = (flags & HAS_TYPE) == 0 ? HARD : in.get();
        int skipped = ((flags & HAS_ORDER) == 0 ? 0 : Long.BYTES) + ((flags & HAS_CHARACTERS) == 0 ? 0 : 1);
        in.position(in.position() + skipped);
        String name = text(in, RawMessages.number(in, 1 << (flags & 3)));
        if (type == HARD) {
            return Member.object(name, RawMessages.number(in, addressBytes));
        }
        String target = text(in, RawMessages.number(in, Short.BYTES));
        if (type == SOFT) {
            return Member.soft(name, target);
        }
        String words = type == EXTERNAL
                ? "the external link " + target.substring(1).replaceFirst("\0", ":").replace("\0", "")
                : "a link of a kind that its writer defines";
        return new Member(name, words, null, 0);
    }

    private static String text(ByteBuffer in, long bytes) {
        byte[] utf8 = new byte[(int) Math.min(bytes, in.remaining() + 1L)];
        in.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }
}
