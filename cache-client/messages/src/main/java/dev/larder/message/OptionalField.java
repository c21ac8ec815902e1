package dev.larder.message;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Marks a component of a record that a message may lack, or have as {@code null}. The component is then 0, false or null. One that has this value
 * is not written.
 */
@Target(ElementType.RECORD_COMPONENT)
@Retention(RetentionPolicy.RUNTIME)
public @interface OptionalField {
    /** Returns the number that an absent integer stands for. */
    long orElse() default 0;
}
