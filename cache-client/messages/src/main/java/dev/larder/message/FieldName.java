package dev.larder.message;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Names a field of a message whose name no component of a record can have, such as {@code interface}. */
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface FieldName {
    /** Returns the name. */
    String value();
}
