package io.lendstream.core.persistent;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * The value of a number or a boolean in an entry of a state that was written before the component was added. Options,
 * lists and maps need no such value: they are empty.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.RECORD_COMPONENT)
public @interface WhenAbsent {
    /** The value as text. */
    String value();
}
