package dev.larder.loader.internal.ring;

import dev.larder.internal.layout.WorkPart;
import jdk.jfr.Description;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** The steps that change rows. */
@Name("dev.larder.Transform")
@Label("Transform")
@Description("A thread read and changed rows of one array")
final class TransformEvent extends FieldEvent {
    @Label("Part")
    @Description("USER_CODE or TRANSFORMING")
    String part;

    TransformEvent(WorkPart part) {
        this.part = part.name();
    }
}
