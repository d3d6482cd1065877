"""Text that people and agents write: any that JSON can carry, so long as it is not too long."""

from typing import Any, NamedTuple

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import PydanticKnownError, core_schema


class Length(NamedTuple):
    """How many letters a text has. Pydantic's own bounds refuse half a character, which agents do write."""

    at_most: int
    at_least: int = 0

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self._require, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        at_least = {"minLength": self.at_least} if self.at_least else {}
        return {**handler(schema), **at_least, "maxLength": self.at_most}

    def _require(self, text: str) -> str:
        if len(text) > self.at_most:
            raise PydanticKnownError("string_too_long", {"max_length": self.at_most})
        if len(text) < self.at_least:
            raise PydanticKnownError("string_too_short", {"min_length": self.at_least})
        return text
