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
import io.jhdf.object.message.LinkMessage;
import io.jhdf.object.message.SymbolTableMessage;
import io.jhdf.storage.HdfBackingStorage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lists what is in a group by name and place, and looks at none of it. The library looks at all of it at once, so that one member that it
 * cannot read hides the others.
 */
final class GroupMembers {
    private static final int SOFT_LINK = 2;

    private GroupMembers() {}

    /** A member of a group: an object at an address, or a link to a place, such as {@code the soft link /a/b}. */
    record Member(String name, @Nullable String link, long address) {}

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
                String link = entry.getCacheType() == SOFT_LINK
                        ? "the soft link " + text(names, entry.getLinkValueOffset())
                        : null;
                members.add(
                        new Member(text(names, entry.getLinkNameOffset()), link, entry.getObjectHeaderAddress()));
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
            group.getMessagesOfType(LinkMessage.class).forEach(link -> members.add(member(link)));
            return members;
        }
        FractalHeap heap = new FractalHeap(file, info.getFractalHeapAddress());
        BTreeV2<LinkNameForIndexedGroupRecord> index = new BTreeV2<>(file, info.getBTreeNameIndexAddress());
        for (LinkNameForIndexedGroupRecord link : index.getRecords()) {
            members.add(member(LinkMessage.fromBuffer(heap.getId(link.getId()), file.getSuperblock())));
        }
        return members;
    }

    private static Member member(LinkMessage link) {
        return switch (link.getLinkType()) {
            case HARD -> new Member(link.getLinkName(), null, link.getHardLinkAddress());
            case SOFT -> new Member(link.getLinkName(), "the soft link " + link.getSoftLink(), 0);
            case EXTERNAL ->
                new Member(
                        link.getLinkName(),
                        "the external link " + link.getExternalFile() + ":" + link.getExternalPath(),
                        0);
        };
    }
}
