package dev.larder.testing;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.stream.Stream;

/** What a user of a class can name: its public and protected fields, constructors and methods, and its supertypes. */
public final class Signatures {
    private Signatures() {}

    /** Asks classes to keep the types of some packages out of their signatures. */
    public static ArchCondition<JavaClass> nameNoTypeOf(String... packages) {
        DescribedPredicate<JavaClass> hidden = resideInAnyPackage(packages);
        return new ArchCondition<>("name no type of " + String.join(", ", packages) + " in a signature") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                Stream<JavaType> supertypes =
                        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
                Stream<JavaType> named = type.getMembers().stream()
                        .filter(Signatures::isForUsers)
                        .flatMap(Signatures::types);
                Stream.concat(supertypes, named)
                        .flatMap(each -> each.getAllInvolvedRawTypes().stream())
                        .filter(hidden)
                        .distinct()
                        .forEach(each -> events.add(
                                SimpleConditionEvent.violated(type, type.getName() + " names " + each.getName())));
            }
        };
    }

    private static boolean isForUsers(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static Stream<JavaType> types(JavaMember member) {
        return member instanceof JavaCodeUnit unit
                ? Stream.concat(Stream.of(unit.getReturnType()), unit.getParameterTypes().stream())
                : Stream.of(((JavaField) member).getType());
    }
}
