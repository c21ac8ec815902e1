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

/**
 * Lists what is in a group by name and place, and looks at none of it. The library looks at all of it at once, so that one member that it
 * cannot read hides the others.
 */
final class GroupMembers {
    private static final int SOFT_LINK = 2;

    private GroupMembers() {}

    /** What a group has: an object at an address, or a link to a path or another file, which has none. */
    record Member(String name, boolean isLink, long address) {}

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
                names.position(entry.getLinkNameOffset());
                members.add(new Member(
                        Utils.readUntilNull(names), entry.getCacheType() == SOFT_LINK, entry.getObjectHeaderAddress()));
            }
        }
        return members;
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
        boolean isHard = link.getLinkType() == LinkMessage.LinkType.HARD;
        return new Member(link.getLinkName(), !isHard, isHard ? link.getHardLinkAddress() : 0);
    }
}
