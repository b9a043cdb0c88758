package io.lendstream.schemas.codec.mapping;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.List;

/** A record class's accessors and constructor, made callable once. */
final class RecordAccess {
    private final List<MethodHandle> accessors = new ArrayList<>();
    private final MethodHandle constructor;

    RecordAccess(Class<?> type) {
        List<RecordComponent> components = Shape.components(type);
        Class<?>[] types = components.stream().map(RecordComponent::getType).toArray(Class<?>[]::new);
        try {
            MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
            for (RecordComponent component : components) {
                accessors.add(lookup.unreflect(component.getAccessor())
                        .asType(MethodType.methodType(Object.class, Object.class)));
            }
            Constructor<?> canonical = type.getDeclaredConstructor(types);
            constructor = lookup.unreflectConstructor(canonical)
                    .asSpreader(Object[].class, types.length)
                    .asType(MethodType.methodType(Object.class, Object[].class));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("cannot access record " + type.getName(), e);
        }
    }

    Object get(int index, Object record) {
        try {
            return (Object) accessors.get(index).invokeExact(record);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("an accessor threw " + e, e);
        }
    }

    /** Creates a record from values that are known to be valid. */
    Object construct(Object... values) {
        try {
            return (Object) constructor.invokeExact(values);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException("a constructor threw " + e, e);
        }
    }

    /** Creates a record from decoded values; refuses values that its constructor rejects. */
    Object create(String path, Object... values) {
        try {
            return construct(values);
        } catch (IllegalArgumentException | DateTimeException | ArithmeticException e) {
            throw new InvalidRecordException("%s is not valid: %s".formatted(path, e.getMessage()), e);
        }
    }
}
