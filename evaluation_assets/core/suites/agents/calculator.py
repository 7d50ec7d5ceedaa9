"""A calculator tool for agents; it parses expressions and never executes code."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

from evaluation_assets.core.suites.agents.tools import ToolError
from evaluation_assets.core.text.python_source import parsed_expression

MAX_CHARACTERS = 1000
MAX_BITS = 4096
"""Integers beyond about 1200 digits are refused: computing them could take forever."""

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    name: getattr(math, name)
    for name in (
        *("sqrt", "cbrt", "exp", "log", "log2", "log10", "floor", "ceil", "trunc", "hypot", "degrees", "radians"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "gcd", "lcm"),
    )
} | {"abs": abs, "round": round, "min": min, "max": max, "ln": math.log}


def calculator(expression: str) -> str:
    """Work out an arithmetic expression and give its value.

    Operators: + - * / // % and ** for powers. Functions: sqrt, exp, log (natural, or with a base), log10, sin, cos,
    tan and their inverses (radians), degrees, radians, abs, round, floor, ceil, min, max, factorial and more.
    Constants: pi, e.

    Args:
        expression: What to work out, for instance "10000 * (1 + 0.05 / 12) ** 36" or "round(sqrt(2), 3)".
    """
    if len(expression) > MAX_CHARACTERS:
        raise ToolError(f"the expression is longer than {MAX_CHARACTERS} characters")
    try:
        return str(_value(parsed_expression(expression)))
    except ZeroDivisionError:
        raise ToolError("division by zero") from None
    except (SyntaxError, RecursionError, MemoryError):
        raise ToolError(f"no arithmetic expression: {expression[:80]!r}") from None
    except OverflowError:
        raise ToolError("the result is too large") from None
    except (ValueError, TypeError) as problem:
        raise ToolError(str(problem)) from None


def _value(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=bool()):
            raise ToolError("truth values are not numbers")
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=binary, right=right) if type(binary) in _OPERATORS:
            return _bounded(_OPERATORS[type(binary)](_value(left), _value(right)))
        case ast.BinOp(op=ast.BitXor()):
            raise ToolError("use ** for powers")
        case ast.Tuple():
            raise ToolError("write numbers without thousands separators")
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            return _applied(name, [_value(argument) for argument in arguments])
        case ast.Name(id=name):
            raise ToolError(f"unknown name {name!r}; the constants are {', '.join(_CONSTANTS)}")
    raise ToolError(f"{type(node).__name__} is not arithmetic; use numbers, operators and functions")


def _applied(name: str, arguments: list[int | float]) -> int | float:
    if name == "factorial":
        return _factorial(*arguments)
    if name == "pow" and len(arguments) == 2:
        return _power(arguments[0], arguments[1])
    if name == "round" and len(arguments) == 2 and abs(arguments[1]) > MAX_BITS:
        raise ToolError("round to fewer places")
    if name not in _FUNCTIONS:
        raise ToolError(f"unknown function {name!r}; there are {', '.join(sorted((*_FUNCTIONS, 'factorial', 'pow')))}")
    return _bounded(_FUNCTIONS[name](*arguments))


def _factorial(number: int | float) -> int:
    if number != int(number) or not 0 <= number <= 500:
        raise ToolError("factorial takes whole numbers from 0 to 500")
    return math.factorial(int(number))


def _power(base: int | float, exponent: int | float) -> int | float:
    if isinstance(base, int) and isinstance(exponent, int) and exponent >= 0:
        if base.bit_length() * exponent > MAX_BITS:
            raise ToolError("the power is too large")
        return base**exponent
    result = float(base) ** exponent
    if isinstance(result, complex):
        raise ToolError("the root of a negative number is not real")
    return _bounded(result)


def _bounded(number: Any) -> int | float:
    if isinstance(number, int) and number.bit_length() > MAX_BITS:
        raise ToolError("the number is too large")
    return number
