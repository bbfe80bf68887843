"""What the heading of a column says: a language, a role in a dictionary, or something else."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

Role = Literal["source", "target", "other"]

_LANGUAGES = """
af afr afrikaans
am amh amharic amharique አማርኛ
ar ara arabic arabe arabisch árabe арабский العربية عربي
az aze azerbaijani azərbaycan
be bel belarusian беларуская
bg bul bulgarian bulgare bulgarisch български
bn ben bengali bangla বাংলা
bs bos bosnian bosanski
ca cat catalan català catalán
cs ces cze czech tchèque tschechisch čeština česky checo чешский
cy cym wel welsh cymraeg gallois
da dan danish dansk danois dänisch danés
de deu ger german deutsch allemand alemán alemão tedesco немецкий saksa
el ell gre greek grec griechisch griego ελληνικά
en eng english englisch anglais inglés inglês inglese английский englanti engelsk engelska angielski anglicky ingilizce
eo epo esperanto
es spa spanish spanisch espagnol español castellano espanhol spagnolo испанский espanja
et est estonian eesti estnisch estonien эстонский viro
eu eus baq basque euskara vasco
fa fas per persian farsi persan persisch فارسی
fi fin finnish finnisch finnois suomi finlandés финский
fo fao faroese føroyskt
fr fra fre french französisch français francés francês francese французский ranska
fy fry frisian frysk
ga gle irish gaeilge
gd gla gaelic gàidhlig
gl glg galician galego
gu guj gujarati
ha hau hausa
he heb hebrew hébreu hebräisch hebreo עברית
hi hin hindi हिन्दी हिंदी
hr hrv croatian hrvatski kroatisch
hu hun hungarian magyar ungarisch hongrois húngaro
hy hye arm armenian հայերեն
id ind indonesian indonesia indonesisch indonésien
ig ibo igbo
is isl ice icelandic íslenska isländisch
it ita italian italiano italienisch italien итальянский
ja jpn japanese japonais japanisch japonés 日本語
jv jav javanese jawa
ka kat geo georgian ქართული
kk kaz kazakh қазақша
km khm khmer ខ្មែរ
kn kan kannada
ko kor korean koreanisch coréen 한국어
ku kur kurdish kurdî kurmanji
ky kir kyrgyz кыргызча
la lat latin latein latín latino
lb ltz luxembourgish lëtzebuergesch
lo lao
lt lit lithuanian lietuvių litauisch
lv lav latvian latviešu lettisch
mg mlg malagasy
mi mri maori māori
mk mkd macedonian македонски
ml mal malayalam
mn mon mongolian монгол
mr mar marathi
ms msa may malay melayu
mt mlt maltese malti
my mya bur burmese
ne nep nepali
nl nld dut dutch nederlands niederländisch néerlandais holandés
no nor nb nob nn nno norwegian norsk bokmål nynorsk norwegisch
pa pan punjabi
pl pol polish polski polnisch polonais polaco польский
ps pus pashto
pt por portuguese português portugiesisch portugais portugués
qu que quechua
rm roh romansh rumantsch
ro ron rum romanian română rumänisch roumain
ru rus russian русский russisch russe ruso russo venäjä
rw kin kinyarwanda
se sme sami davvisámegiella
si sin sinhala
sk slk slo slovak slovenčina slowakisch
sl slv slovenian slovenščina slowenisch slovene
sn sna shona
so som somali soomaali
sq sqi alb albanian shqip albanisch
sr srp serbian srpski српски serbisch
su sun sundanese
sv swe swedish svenska schwedisch suédois sueco ruotsi
sw swa swahili kiswahili
ta tam tamil
te tel telugu
tg tgk tajik тоҷикӣ
th tha thai ไทย
tk tuk turkmen
tl tgl tagalog filipino
tr tur turkish türkçe türkisch turc turco турецкий
tt tat tatar татарча
ug uig uyghur
uk ukr ukrainian українська ukrainisch
ur urd urdu اردو
uz uzb uzbek oʻzbek
vi vie vietnamese vietnamien
wo wol wolof
xh xho xhosa
yi yid yiddish ייִדיש
yo yor yoruba
zh zho chi cmn chinese mandarin chinesisch chinois chino 中文 汉语 漢語 китайский
zu zul zulu isizulu
"""
"""A language in each line: its codes (ISO 639), then its names, in English, its own and some other languages."""
_ROLES: dict[Role, str] = {
    "source": "source word headword lemma entry stichwort wort mot palabra palavra parola слово sana kelime kata "
    "words lemmas headwords src sourceword 词 单词 كلمة vedette entrada lähdesana uppslagsord",
    "target": "target translation translations equivalent equivalents trg tgt targetword übersetzung übersetzungen "
    "entsprechung traduction traductions traducción traducciones tradução traduções traduzione traduzioni перевод "
    "переводы käännös käännökset çeviri terjemahan översättning översättningar tłumaczenie překlad fordítás vertaling "
    "翻译 译文 訳 ترجمة μετάφραση oversettelse oversættelse",
    "other": "pos part speech class wordclass wortart gender genus genre género note notes notiz notizen remark "
    "remarks bemerkung bemerkungen comment comments kommentar commentaire comentario id no nr number "
    "nummer num index freq frequency häufigkeit fréquence rank example examples beispiel beispiele "
    "exemple exemples ejemplo pronunciation aussprache ipa score origin confidence decision alternatives "
    "definition category kategorie tag tags date datum page seite status source_id plural theme topic "
    "thema domain level niveau sense context cefr author № #",
}


class Heading(NamedTuple):
    """The language that a heading names, and the role of the column; None if it says neither."""

    language: str | None = None
    role: Role | None = None
    is_code: bool = False
    """Whether all it says is a code of a language in lower case, which may as well be a word."""


def understand(text: str) -> Heading:
    """What the heading of a column says."""
    if len(text) > MAX_LENGTH:
        return Heading()
    words = re.findall(r"[^\W_]+|[#№]", text.casefold().strip().removeprefix("# "))
    if not 0 < len(words) <= MAX_WORDS:
        return Heading()
    codes, names, roles = _known()
    if words[0] in codes and (len(words) == 1 or re.fullmatch(r"[A-Za-z]{2,3}[-_][A-Za-z]{2,4}", text.strip())):
        return Heading(codes[words[0]], is_code=len(words) == 1 and text.strip().islower())
    language = next((names[word] for word in words if word in names), None)
    role = next((roles[word] for word in words if word in roles), None)
    if language is None and role is not None:
        language = next((codes[word] for word in words[1:] if word in codes), None)
    return Heading(language, role)


MAX_WORDS, MAX_LENGTH = 4, 100
"""A longer text is no heading."""


@cache
def _known() -> tuple[dict[str, str], dict[str, str], dict[str, Role]]:
    """The languages by code and by name, and the roles by word."""
    codes: dict[str, str] = {}
    names: dict[str, str] = {}
    for line in _LANGUAGES.split("\n")[1:-1]:
        code, *others = line.split()
        for word in (code, *others):
            is_code = len(word) <= 3 and word.isascii() and word not in ("lao",)
            (codes if is_code else names)[word] = code
    roles = {word: role for role, words in _ROLES.items() for word in words.split()}
    return codes, names, roles
